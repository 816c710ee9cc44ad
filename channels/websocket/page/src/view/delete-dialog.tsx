/** Asks before a dialog is deleted. */
import { useEffect, useRef } from 'preact/hooks';
import { useServices } from '../services.js';

interface DeleteDialogProps {
  title: string;
  close(): void;
  remove(): void;
}

export function DeleteDialog({ title, close, remove }: DeleteDialogProps) {
  const { texts } = useServices();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="confirm" aria-labelledby="delete-title" onClose={close}>
      <h2 id="delete-title">{texts.t('deleteTitle')}</h2>
      <p>{texts.t('deleteText', { title })}</p>
      <div class="confirm-buttons">
        <button type="button" class="button" onClick={() => dialog.current?.close()}>
          {texts.t('cancel')}
        </button>
        <button
          type="button"
          class="button danger"
          onClick={() => {
            dialog.current?.close();
            remove();
          }}
        >
          {texts.t('delete')}
        </button>
      </div>
    </dialog>
  );
}
