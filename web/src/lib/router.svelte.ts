// SPDX-License-Identifier: Apache-2.0 OR MIT

// Where we are: `#/page/part?key=value`. Nothing of it reaches a server.

export type Query = Record<string, string | number | boolean | undefined | null>;

class Route {
  /** The page and what follows it, each decoded. */
  parts = $state<string[]>([]);
  query = $state<Record<string, string>>({});

  get page() {
    return this.parts[0] ?? '';
  }

  /** All of it as one text. */
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

/** The address of a place. */
export function href(parts: string[], query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '' && value !== false)
      search.set(key, String(value));
  }
  const path = `#/${parts.map(encodeURIComponent).join('/')}`;
  return search.size > 0 ? `${path}?${search}` : path;
}

/** Goes there; `replace` leaves no step to go back to. */
export function go(parts: string[], query: Query = {}, replace = false) {
  const address = href(parts, query);
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  route.read(location.hash);
}

/** Changes the query of where we are. */
export function requery(query: Query, replace = true) {
  go(route.parts, { ...route.query, ...query }, replace);
}

export function startRouter() {
  const look = () => route.read(location.hash);
  addEventListener('hashchange', look);
  addEventListener('popstate', look);
  look();
}
