/** One dialog of the list: a link, a menu of what can be done to it, and its title while it is being changed. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SessionSummary } from '../../../../../src/protocol/control.js';
import { dialogHash } from '../dialog-hash.js';
import { useServices } from '../services.js';
import { dialogKey } from '../wire/api.js';
import { MoreIcon } from './icons.js';
import { Menu } from './menu.js';

interface DialogItemProps {
  session: SessionSummary;
  isCurrent: boolean;
  onOpen(): void;
  onDelete(session: SessionSummary): void;
}

export function DialogItem({ session, isCurrent, onOpen, onDelete }: DialogItemProps) {
  const { chat, texts } = useServices();
  const [isRenaming, setRenaming] = useState(false);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const key = dialogKey(session);
  const title = session.title || texts.t('untitled');
  const closeMenu = () => {
    setMenuOpen(false);
    button.current?.focus();
  };

  if (isRenaming) {
    return (
      <li class="dialog renaming">
        <TitleField
          title={title}
          close={(changed) => {
            setRenaming(false);
            if (changed !== undefined && changed !== title) void chat.dialogs.rename(key, changed);
          }}
        />
      </li>
    );
  }
  return (
    <li class={isCurrent ? 'dialog current' : 'dialog'}>
      <a href={dialogHash(key)} aria-current={isCurrent ? 'page' : undefined} onClick={onOpen} title={title}>
        <span class="dialog-title" dir="auto">
          {title}
        </span>
        {session.busy && <span class="busy-dot" role="img" aria-label={texts.t('busy')} />}
      </a>
      <button
        type="button"
        class="icon-button small"
        ref={button}
        aria-label={texts.t('dialogActions', { title })}
        aria-haspopup="menu"
        aria-expanded={isMenuOpen}
        onClick={() => setMenuOpen(!isMenuOpen)}
      >
        <MoreIcon />
      </button>
      {isMenuOpen && (
        <Menu
          anchor={button}
          close={closeMenu}
          items={[
            { label: texts.t('rename'), run: () => setRenaming(true) },
            {
              label: texts.t(session.archived ? 'restore' : 'archive'),
              run: () => void chat.dialogs.archive(key, !session.archived),
            },
            { label: texts.t('delete'), run: () => onDelete(session), isDanger: true },
          ]}
        />
      )}
    </li>
  );
}

/** Enter and leaving the field keep the new title, Escape does not. */
function TitleField({ title, close }: { title: string; close(changed?: string): void }) {
  const { texts } = useServices();
  const field = useRef<HTMLInputElement>(null);
  const isDone = useRef(false);
  useEffect(() => field.current?.select(), []);
  const finish = (changed?: string) => {
    if (isDone.current) return;
    isDone.current = true;
    close(changed?.trim() || undefined);
  };
  return (
    <input
      ref={field}
      class="title-field"
      defaultValue={title}
      maxLength={200}
      aria-label={texts.t('renameTo')}
      onBlur={(event) => finish(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.isComposing || event.keyCode === 229) return;
        if (event.key === 'Enter') finish(event.currentTarget.value);
        if (event.key === 'Escape') finish();
      }}
    />
  );
}
