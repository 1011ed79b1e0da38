// SPDX-License-Identifier: Apache-2.0 OR MIT

// The editor that opens files. URLs have only the schemes in this table, so that a file path cannot introduce another
// scheme.

export const EDITORS = {
  vscode: { title: 'VS Code', open: (path: string) => `vscode://file${path}` },
  cursor: { title: 'Cursor', open: (path: string) => `cursor://file${path}` },
  windsurf: { title: 'Windsurf', open: (path: string) => `windsurf://file${path}` },
  zed: { title: 'Zed', open: (path: string) => `zed://file${path}` },
  idea: { title: 'JetBrains', open: (path: string) => `idea://open?file=${path}` },
  none: { title: 'No editor', open: () => '' },
} as const;

export type Name = keyof typeof EDITORS;

const KEY = 'tenterhook-editor';

class Editor {
  name = $state<Name>('vscode');

  constructor() {
    const kept = localStorage.getItem(KEY);
    if (kept && kept in EDITORS) this.name = kept as Name;
  }

  choose(name: Name) {
    this.name = name;
    localStorage.setItem(KEY, name);
  }

  /** URL that opens a file; empty if the path is not absolute. */
  link(path: string): string {
    if (!path.startsWith('/')) return '';
    return EDITORS[this.name].open(path.split('/').map(encodeURIComponent).join('/'));
  }
}

export const editor = new Editor();
