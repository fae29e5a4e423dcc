import { render } from 'preact';

render(<h1>OASIS</h1>, document.getElementById('app')!);
