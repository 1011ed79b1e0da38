// SPDX-License-Identifier: Apache-2.0 OR MIT

// Which editor opens a file. Only addresses of this table are ever made: a path cannot choose another.

export const EDITORS = {
  vscode: { title: 'VS Code', open: (path: string) => `vscode://file${path}` },
  cursor: { title: 'Cursor', open: (path: string) => `cursor://file${path}` },
  windsurf: { title: 'Windsurf', open: (path: string) => `windsurf://file${path}` },
  zed: { title: 'Zed', open: (path: string) => `zed://file${path}` },
  idea: { title: 'JetBrains', open: (path: string) => `idea://open?file=${path}` },
  none: { title: 'no editor', open: () => '' },
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

  /** The address that opens a file; nothing for what is no whole path. */
  link(path: string): string {
    if (!path.startsWith('/')) return '';
    return EDITORS[this.name].open(path.split('/').map(encodeURIComponent).join('/'));
  }
}

export const editor = new Editor();
