import { notify } from '../state/notice.ts';

/** Whether the browser gives the whole screen to a part of the page. */
export const hasFullScreen = () => document.fullscreenEnabled === true;

/** Gives the whole screen to a group of panels, or ends that, as Escape does. */
export function toggleFullScreen(group: HTMLElement | undefined): void {
  const done = document.fullscreenElement ? document.exitFullscreen() : group?.requestFullscreen();
  done?.catch((error: unknown) => notify(String(error)));
}
