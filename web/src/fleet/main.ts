// SPDX-License-Identifier: Apache-2.0 OR MIT

import { mount } from 'svelte';
import '../app.css';
import { startRouter } from '../lib/router.svelte';
import { theme } from '../lib/theme.svelte';
import FleetApp from './FleetApp.svelte';

theme.apply();
startRouter();

const target = document.getElementById('app');
if (target) mount(FleetApp, { target });
