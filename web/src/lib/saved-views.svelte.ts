// SPDX-License-Identifier: Apache-2.0 OR MIT

// Saved views of the page Decisions: a name and the filters. They are stored in this browser.

export interface SavedView {
  name: string;
  query: Record<string, string>;
}

const KEY = 'tenterhook-views';

function stored(): SavedView[] {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(read) ? (read as SavedView[]).filter((one) => one?.name && one.query) : [];
  } catch {
    return [];
  }
}

class SavedViews {
  #all = $state.raw(stored());

  get all(): SavedView[] {
    return this.#all;
  }

  /** Stores a view; one with the same name is replaced. */
  save(name: string, query: Record<string, string>) {
    const { leaf: _, ...kept } = query;
    this.#write([...this.#all.filter((one) => one.name !== name), { name, query: kept }]);
  }

  remove(name: string) {
    this.#write(this.#all.filter((one) => one.name !== name));
  }

  #write(all: SavedView[]) {
    this.#all = all;
    localStorage.setItem(KEY, JSON.stringify(all));
  }
}

export const savedViews = new SavedViews();
