import { newFileFolder } from './folder.ts';
import { endLeftovers } from './leftovers.ts';

// Runs before each file of a worker.
await endLeftovers();
newFileFolder();
