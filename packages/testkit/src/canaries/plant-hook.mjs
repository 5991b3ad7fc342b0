// Loaded into a child process before anything that reads TypeScript: hands out one file of ours with a
// bug planted in it. Node 20 reads such a file itself, so it is plain JavaScript.
import { register } from 'node:module';

register(new URL('./plant-loader.mjs', import.meta.url), {
  data: JSON.parse(process.env.COUNTERFOIL_PLANTED ?? 'null'),
});
