/** Engine and image of the container tests, by itself: CI lets it work beside the quick tests. */
import { ensureImage } from '../support/docker-image.ts';

const why = await ensureImage();
console.error(why === null ? 'Containers: engine and image are there' : `Containers: ${why}`);
process.exit(why === null ? 0 : 1);
