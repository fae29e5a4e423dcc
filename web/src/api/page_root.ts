/** Dashboards have addresses of their own, a level below the page. */
const DASHBOARD = /\/d\/([^/]+)$/;

/** Address of the folder of the page: of its files, the API and the doors. */
export function pageRoot(): URL {
  const here = new URL(document.baseURI);
  return new URL(DASHBOARD.test(here.pathname) ? '..' : '.', here);
}

/** Returns the name in the browser's storage for what belongs to this DAC: those below other paths of a host have their own. */
export function storedName(name: string): string {
  const { pathname } = pageRoot();
  return pathname === '/' ? name : `${name} ${pathname}`;
}

/** The name of the dashboard in the address of the page; undefined without. */
export function dashboardInAddress(): string | undefined {
  const name = DASHBOARD.exec(new URL(document.baseURI).pathname)?.[1];
  if (name === undefined) return undefined;
  try {
    return decodeURIComponent(name);
  } catch {
    // A mistyped address: no dashboard has this name, and the page says so.
    return name;
  }
}
