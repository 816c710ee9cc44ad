/** The dialog list; on a phone a drawer over the conversation. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SessionSummary } from '../../../../../src/protocol/control.js';
import { usePage, useServices } from '../services.js';
import { ageGroup } from '../text/texts.js';
import { dialogKey } from '../wire/api.js';
import { ConnectionPill } from './connection-pill.js';
import { DeleteDialog } from './delete-dialog.js';
import { DialogItem } from './dialog-item.js';
import { ArchiveIcon, CloseIcon, Mark, NewIcon } from './icons.js';

interface SidebarProps {
  isOpen: boolean;
  /** The list lies over the conversation, which waits until it is closed. */
  isDrawer: boolean;
  close(): void;
}

export function Sidebar({ isOpen, isDrawer, close }: SidebarProps) {
  const { chat, texts } = useServices();
  const status = usePage((state) => state.status);
  const showsArchived = usePage((state) => state.dialogs.showsArchived);
  const [deleting, setDeleting] = useState<SessionSummary>();
  const closeButton = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isDrawer && isOpen) closeButton.current?.focus();
  }, [isDrawer, isOpen]);

  return (
    <>
      <aside
        id="dialogs"
        class={isOpen ? 'sidebar open' : 'sidebar'}
        inert={isDrawer && !isOpen}
        aria-label={texts.t('dialogs')}
      >
        <header class="sidebar-head">
          <Mark />
          <strong>{texts.t('appName')}</strong>
          <button
            type="button"
            class="icon-button drawer-only"
            ref={closeButton}
            aria-label={texts.t('closeDialogs')}
            onClick={close}
          >
            <CloseIcon />
          </button>
        </header>
        <button
          type="button"
          class="new-dialog"
          onClick={() => {
            close();
            void chat.dialogs.create();
          }}
        >
          <NewIcon />
          {texts.t('newDialog')}
        </button>
        <DialogGroups onDelete={setDeleting} close={close} />
        <footer class="sidebar-foot">
          <button type="button" class="quiet" onClick={() => chat.dialogs.showArchived(!showsArchived)}>
            <ArchiveIcon />
            {texts.t(showsArchived ? 'showActive' : 'showArchived')}
          </button>
          <p class="about">
            <ConnectionPill />
            {status && (
              <span class="about-model" title={`PicoBot ${status.version} · ${status.model}`}>
                {status.model}
              </span>
            )}
          </p>
        </footer>
      </aside>
      {deleting && (
        <DeleteDialog
          title={deleting.title || texts.t('untitled')}
          close={() => setDeleting(undefined)}
          remove={() => void chat.dialogs.remove(dialogKey(deleting))}
        />
      )}
    </>
  );
}

function DialogGroups({ onDelete, close }: { onDelete(session: SessionSummary): void; close(): void }) {
  const { chat, texts } = useServices();
  const list = usePage((state) => state.dialogs);
  const currentKey = usePage((state) => state.currentKey);
  if (list.state === 'failed') {
    return (
      <div class="dialogs">
        <p class="dialogs-note">{texts.t('dialogsFailed')}</p>
        <button type="button" class="quiet" onClick={() => void chat.dialogs.refresh()}>
          {texts.t('tryAgain')}
        </button>
      </div>
    );
  }
  const nowMs = Date.now();
  const groups = new Map<string, SessionSummary[]>();
  for (const item of list.items) {
    const name = list.showsArchived ? 'archived' : ageGroup(item.lastActiveAt, nowMs);
    groups.set(name, [...(groups.get(name) ?? []), item]);
  }
  return (
    <nav class="dialogs" aria-label={texts.t('dialogs')}>
      {list.state === 'ready' && list.items.length === 0 && (
        <p class="dialogs-note">{texts.t(list.showsArchived ? 'noArchived' : 'noDialogs')}</p>
      )}
      {[...groups].map(([name, items]) => (
        <section key={name}>
          <h2>{texts.t(name as ReturnType<typeof ageGroup> | 'archived')}</h2>
          <ul>
            {items.map((item) => (
              <DialogItem
                key={item.id}
                session={item}
                isCurrent={dialogKey(item) === currentKey}
                onDelete={onDelete}
                onOpen={close}
              />
            ))}
          </ul>
        </section>
      ))}
      {list.nextCursor !== undefined && (
        <button type="button" class="quiet" onClick={() => void chat.dialogs.loadMore()}>
          {texts.t('moreDialogs')}
        </button>
      )}
    </nav>
  );
}
