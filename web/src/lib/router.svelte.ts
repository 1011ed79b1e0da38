// SPDX-License-Identifier: Apache-2.0 OR MIT

// Routing in the URL fragment: `#/page/part?key=value`. Browsers do not send the fragment to the server.

export type Query = Record<string, string | number | boolean | undefined | null>;

class Route {
  /** Path segments, decoded. */
  parts = $state<string[]>([]);
  query = $state<Record<string, string>>({});

  get page() {
    return this.parts[0] ?? '';
  }

  /** The complete fragment. */
  get address() {
    return href(this.parts, this.query);
  }

  read(hash: string) {
    const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2);
    this.parts = path.split('/').filter(Boolean).map(decoded);
    this.query = Object.fromEntries(new URLSearchParams(search));
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = new Route();

/** Builds the URL of a page. */
export function href(parts: string[], query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '' && value !== false)
      search.set(key, String(value));
  }
  const path = `#/${parts.map(encodeURIComponent).join('/')}`;
  return search.size > 0 ? `${path}?${search}` : path;
}

/** Navigates; `replace` adds no history entry. */
export function go(parts: string[], query: Query = {}, replace = false) {
  const address = href(parts, query);
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  route.read(location.hash);
}

/** Changes the query of the current page. */
export function requery(query: Query, replace = true) {
  go(route.parts, { ...route.query, ...query }, replace);
}

export function startRouter() {
  const look = () => route.read(location.hash);
  addEventListener('hashchange', look);
  addEventListener('popstate', look);
  look();
}
