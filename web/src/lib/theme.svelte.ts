// SPDX-License-Identifier: Apache-2.0 OR MIT

// Light or dark theme: that of the system, unless the user chose one.

export type Choice = 'system' | 'light' | 'dark';

const KEY = 'tenterhook-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

class Theme {
  choice = $state<Choice>((localStorage.getItem(KEY) as Choice | null) ?? 'system');
  #system = $state(dark.matches);

  constructor() {
    dark.addEventListener('change', () => {
      this.#system = dark.matches;
      this.apply();
    });
  }

  /** The active theme. */
  get shown(): 'light' | 'dark' {
    if (this.choice !== 'system') return this.choice;
    return this.#system ? 'dark' : 'light';
  }

  choose(choice: Choice) {
    this.choice = choice;
    localStorage.setItem(KEY, choice);
    this.apply();
  }

  apply() {
    document.documentElement.dataset.theme = this.shown;
  }
}

export const theme = new Theme();
