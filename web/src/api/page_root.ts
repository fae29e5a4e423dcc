/** Dashboards have addresses of their own, a level below the page. */
const DASHBOARD = /\/d\/([^/]+)$/;

/** Address of the folder of the page: of its files, the API and the doors. */
export function pageRoot(): URL {
  const here = new URL(document.baseURI);
  return new URL(DASHBOARD.test(here.pathname) ? '..' : '.', here);
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
