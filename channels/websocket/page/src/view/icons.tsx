/** The page's icons: 20 × 20, drawn with the text colour. Decoration only; the button around names itself. */
import type { ComponentChildren } from 'preact';

function Icon({ children }: { children: ComponentChildren }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  );
}

export const MenuIcon = () => (
  <Icon>
    <path d="M3.5 6h13M3.5 10h13M3.5 14h13" />
  </Icon>
);
export const CloseIcon = () => (
  <Icon>
    <path d="m5 5 10 10M15 5 5 15" />
  </Icon>
);
export const NewIcon = () => (
  <Icon>
    <path d="M10 4v12M4 10h12" />
  </Icon>
);
export const MoreIcon = () => (
  <Icon>
    <path d="M5 10h.010M10 10h.010M15 10h.01" stroke-width="2.4" />
  </Icon>
);
export const SendIcon = () => (
  <Icon>
    <path d="M10 16V4.500M5 9.500l5-5 5 5" stroke-width="1.9" />
  </Icon>
);
export const StopIcon = () => (
  <Icon>
    <rect x="5.5" y="5.5" width="9" height="9" rx="2" fill="currentColor" stroke="none" />
  </Icon>
);
export const DownIcon = () => (
  <Icon>
    <path d="M10 4v11.500M5 10.500l5 5 5-5" />
  </Icon>
);
export const ChevronIcon = () => (
  <Icon>
    <path d="m7.5 5 5 5-5 5" />
  </Icon>
);
export const SunIcon = () => (
  <Icon>
    <circle cx="10" cy="10" r="3.2" />
    <path d="M10 2.500v1.700M10 15.800v1.700M2.5 10h1.700M15.8 10h1.700M4.7 4.700l1.2 1.200M14.1 14.100l1.2 1.200M15.3 4.700l-1.2 1.200M5.9 14.100l-1.2 1.2" />
  </Icon>
);
export const MoonIcon = () => (
  <Icon>
    <path d="M16.5 11.700A6.9 6.9 0 0 1 8.3 3.500a6.9 6.9 0 1 0 8.2 8.200z" />
  </Icon>
);
export const ToolIcon = () => (
  <Icon>
    <path d="M12.3 5.200a3.3 3.3 0 0 0-4.2 4.200L3.7 13.800a1.7 1.7 0 0 0 2.5 2.500l4.4-4.400a3.3 3.3 0 0 0 4.2-4.200l-2 2-2.1-.4-.4-2.100z" />
  </Icon>
);
export const CheckIcon = () => (
  <Icon>
    <path d="m4.5 10.5 3.5 3.5 7.5-8" />
  </Icon>
);
export const AlertIcon = () => (
  <Icon>
    <path d="M10 6.500v4M10 13.500h.010M8.8 3.4 2.4 14.600a1.4 1.4 0 0 0 1.2 2.100h12.800a1.4 1.4 0 0 0 1.2-2.100L11.2 3.400a1.4 1.4 0 0 0-2.4 0z" />
  </Icon>
);
export const SparkIcon = () => (
  <Icon>
    <path d="M10 3.500c.6 3.7 2.3 5.4 6 6-3.7.6-5.4 2.3-6 6-.6-3.7-2.3-5.4-6-6 3.7-.6 5.4-2.3 6-6z" />
  </Icon>
);
export const CopyIcon = () => (
  <Icon>
    <rect x="7" y="7" width="9.5" height="9.5" rx="2" />
    <path d="M13 4.500A1.5 1.5 0 0 0 11.5 3.500h-6A2 2 0 0 0 3.5 5.500v6A1.5 1.5 0 0 0 4.5 13" />
  </Icon>
);
export const ArchiveIcon = () => (
  <Icon>
    <path d="M3 4.500h14v3.500H3zM4.5 8v7.500h11V8M8 11h4" />
  </Icon>
);

export const Mark = () => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <path
      class="mark-shape"
      d="M16 3c7.2 0 13 5.2 13 11.700s-5.8 11.7-13 11.700c-1.5 0-2.9-.2-4.2-.6L5.6 29c-.6.3-1.3-.3-1.1-1l1.3-5.200C4 20.7 3 17.8 3 14.7 3 8.2 8.8 3 16 3z"
    />
    <circle class="mark-eye" cx="11.3" cy="14.7" r="2.2" />
    <circle class="mark-eye" cx="20.7" cy="14.7" r="2.2" />
  </svg>
);
