// SPDX-License-Identifier: Apache-2.0 OR MIT

import { mount } from 'svelte';
import '../app.css';
import { startRouter } from '../lib/router.svelte';
import { theme } from '../lib/theme.svelte';
import FleetApp from './FleetApp.svelte';

theme.apply();
// Read before the router starts: a one-time link is in the URL fragment.
const link = /^#link=([\w-]+)$/.exec(location.hash)?.[1];
if (link) history.replaceState(null, '', '#/fleet');
startRouter();

const target = document.getElementById('app');
if (target) mount(FleetApp, { target, props: { link } });
