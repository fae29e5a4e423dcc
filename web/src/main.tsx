import { render } from 'preact';
import { App } from './components/app.tsx';
import { start } from './state/actions.ts';
import './styles/theme.css';
import './styles/base.css';
import './styles/header.css';
import './styles/time_bar.css';
import './styles/tree.css';
import './styles/card.css';
import './styles/metrics.css';
import './styles/dock.css';
import './styles/panel.css';
import './styles/drawings.css';
import './styles/lists.css';
import './styles/dialog.css';
import './styles/sign_in.css';

void start();
render(<App />, document.getElementById('app')!);
