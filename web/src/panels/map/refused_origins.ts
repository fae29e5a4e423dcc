import { signal } from '@preact/signals';

/** Servers whose pictures the policy of the page refuses, because the DAC does not allow them. */
export const refusedOrigins = signal<ReadonlySet<string>>(new Set());

document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
  if (effectiveDirective !== 'img-src' || !URL.canParse(blockedURI)) return;
  refusedOrigins.value = new Set([...refusedOrigins.peek(), new URL(blockedURI).origin]);
});
