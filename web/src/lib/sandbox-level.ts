// SPDX-License-Identifier: Apache-2.0 OR MIT

const TITLES: Record<string, [title: string, about: string]> = {
  hooks: ['hooks only', 'Only hooks and rules apply.'],
  landlock: ['Landlock only', 'The kernel limits the files that the run may use.'],
  'namespaces-landlock': [
    'namespaces + Landlock',
    'The run has its own files, processes and network, and Landlock applies too.',
  ],
};

/** The name of a level that users read. */
export const levelTitle = (level: string): string => TITLES[level]?.[0] ?? level;
export const levelAbout = (level: string): string | undefined => TITLES[level]?.[1];
