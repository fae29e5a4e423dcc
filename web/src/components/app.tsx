import { connection } from '../state/store.ts';
import { Banner } from './banner.tsx';
import { Cards } from './cards.tsx';
import { Header } from './header.tsx';
import { Tree } from './tree.tsx';

export function App() {
  const isLost = connection.value.phase !== 'connected';
  return (
    <div class={isLost ? 'app is-lost' : 'app'}>
      <Header />
      <div class="app-body">
        <Tree />
        <Cards />
      </div>
      <Banner />
    </div>
  );
}
