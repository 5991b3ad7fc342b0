import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { problemCodes } from '@counterfoil/kernel';
import express, { type Express, type RequestHandler, type Response } from 'express';
import helmet from 'helmet';
import { codingFor, compressed } from './compression.ts';
import { type DescribedApi, documentsOf } from './described-documents.ts';
import { exchangeOf } from './exchange.ts';
import type { HttpOptions } from './host.ts';
import { onceDone } from './once.ts';
import { mountPage } from './paths.ts';
import { problemsPath } from './problem-body.ts';

/** The files of Swagger UI that its page loads; nothing else of the package is served. */
const assets = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'] as const;
const assetsFolder = dirname(
  createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'),
);

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => escapes[character] ?? character);

const page = (title: string, head: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
${head}
</head>
<body>
${body}
</body>
</html>
`;

const referencePage = (title: string): string =>
  page(
    title,
    `<link rel="icon" type="image/png" href="/docs/assets/favicon-32x32.png">
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">`,
    `<div id="reference"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/start.js"></script>`,
  );

/** `validatorUrl: null` keeps the page from sending the document to a validator elsewhere. */
const startScript = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
`;

const problemsStyle = `body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { border-bottom: 1px solid #ccc; padding: .5rem; text-align: left }
:target { background: #fff3bf }`;

function problemsPage(title: string): string {
  const rows = Object.entries(problemCodes).map(
    ([code, problem]) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${problem.status}</td>` +
      `<td>${escapeHtml(problem.title)}</td></tr>`,
  );
  return page(
    `${title}: error codes`,
    `<style>${problemsStyle}</style>`,
    `<h1>Error codes</h1>
<p>Every failure has one of these codes and the same body: <code>code</code>, <code>message</code>,
<code>http_status_code</code>, and where it helps <code>details</code> and <code>errors</code> with
a JSON pointer to each wrong value. <code>instance</code> is the id of the request.</p>
<table>
<thead><tr><th>Code</th><th>Status</th><th>Meaning</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`,
  );
}

/** These pages may load resources of this server, and no others. */
const pageSecurity = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      'default-src': ["'none'"],
      'script-src': ["'self'"],
      // Swagger UI and the table of codes carry styles in the page.
      'style-src': ["'self'", "'unsafe-inline'"],
      'img-src': ["'self'", 'data:'],
      'font-src': ["'self'", 'data:'],
      'connect-src': ["'self'"],
      'base-uri': ["'none'"],
      'form-action': ["'none'"],
      'frame-ancestors': ["'none'"],
    },
  },
});

const send = (response: Response, type: string, text: Buffer): void => {
  response.setHeader('Content-Type', type);
  response.setHeader('Cache-Control', 'no-cache');
  response.end(text);
};

/**
 * Mounts the API reference, the table of error codes and the documents that programs read, by path.
 * They ask for no API key.
 */
export function mountDocumentation(
  application: Express,
  api: DescribedApi & Pick<HttpOptions, 'writeDocument'>,
): void {
  const { title } = api.info;
  const documents: Readonly<Record<string, () => object>> = documentsOf(api);
  const reference = Buffer.from(referencePage(title));
  const problems = Buffer.from(problemsPage(title));
  const start = Buffer.from(startScript);
  const html = 'text/html; charset=utf-8';
  application.use('/docs', pageSecurity, (request, response, next) => {
    exchangeOf(response).label = `${request.method} /docs`;
    next();
  });
  const mount = (path: string, answer: RequestHandler): void =>
    mountPage(application, path, answer);
  for (const [path, document] of Object.entries(documents)) {
    const written = onceDone(async () =>
      Buffer.from((await api.writeDocument?.(path)) ?? JSON.stringify(document())),
    );
    const coded = {
      br: onceDone(async () => compressed(await written(), 'br')),
      gzip: onceDone(async () => compressed(await written(), 'gzip')),
    };
    mount(path, async (request, response) => {
      exchangeOf(response).label = `GET ${path}`;
      const text = await written();
      const coding = codingFor(request, response, text.length);
      const bytes = coding && (await coded[coding]());
      if (coding) response.setHeader('Content-Encoding', coding);
      send(response, 'application/json', bytes ?? text);
    });
  }
  mount('/docs', (_request, response) => send(response, html, reference));
  mount(problemsPath, (_request, response) => send(response, html, problems));
  mount('/docs/assets/start.js', (_request, response) =>
    send(response, 'text/javascript; charset=utf-8', start),
  );
  const files = express.static(assetsFolder, { index: false, redirect: false });
  for (const asset of assets) {
    mount(`/docs/assets/${asset}`, (request, response, next) => {
      request.url = `/${asset}`;
      files(request, response, next);
    });
  }
}
