// The certified provider `oidc-provider`, for tests/end_to_end/openid.rs and
// tests/browser/openid.test.ts.
//
// Prints its issuer, and answers 503 until a line on standard input names the redirect URL of its client. The browser
// names in `login_hint` who signs in; without it, `ada` does. Later lines say how ID tokens are forged from then on,
// and `honest` ends that. Ends with its standard input.

import crypto from 'node:crypto';
import http from 'node:http';
import readline from 'node:readline';
import { Provider } from 'oidc-provider';

// Standard output is for the test.
console.info = console.error;

const GROUPS = { ada: ['fitters'], eve: ['others'] };
const SECRET = 'a secret of provider and client that is long enough';

const { privateKey } = crypto.generateKeyPairSync('rsa', { modulusLength: 2048 });
const other = crypto.generateKeyPairSync('rsa', { modulusLength: 2048 });

let answer = (_request, response) => response.writeHead(503).end();
let forging = 'honest';

const server = http.createServer((request, response) => answer(request, response));
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  process.stdout.write(`${issuer}\n`);
  const lines = readline.createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    if (line.startsWith('http')) answer = serve(issuer, line);
    else forging = line;
    process.stdout.write('ready\n');
  });
  lines.on('close', () => process.exit());
});

function serve(issuer, redirect) {
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'oasis',
        client_secret: SECRET,
        redirect_uris: [redirect],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], profile: ['preferred_username', 'groups'] },
    cookies: { keys: ['a key for the cookies of a test'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: `subject-of-${id}`, preferred_username: id, groups: GROUPS[id] ?? [] }),
    }),
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    jwks: {
      keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'of-this-run', use: 'sig', alg: 'RS256' }],
    },
    // Nobody is asked for consent.
    loadExistingGrant: async (context) => {
      const grant = new context.oidc.provider.Grant({
        clientId: 'oasis',
        accountId: context.oidc.session.accountId,
      });
      grant.addOIDCScope('openid profile');
      await grant.save();
      return grant;
    },
    pkce: { required: () => true },
  });
  provider.use(async (context, next) => {
    if (context.path.startsWith('/interaction/')) {
      const { params } = await provider.interactionDetails(context.req, context.res);
      const who = params.login_hint ?? 'ada';
      const result = who === 'nobody' ? { error: 'access_denied' } : { login: { accountId: who } };
      context.respond = false;
      return provider.interactionFinished(context.req, context.res, result);
    }
    await next();
    if (context.path === '/token' && context.body?.id_token)
      context.body.id_token = forged(context.body.id_token);
  });
  return provider.callback();
}

/** Changes a token, and signs it again. */
function forged(token) {
  const [header, claims] = token.split('.', 2).map((part) => JSON.parse(Buffer.from(part, 'base64url')));
  const now = Math.floor(Date.now() / 1000);
  let key = privateKey;
  switch (forging) {
    case 'nonce':
      claims.nonce = 'another';
      break;
    case 'no-nonce':
      delete claims.nonce;
      break;
    case 'audience':
      claims.aud = 'another';
      break;
    case 'another-audience-too':
      claims.aud = ['oasis', 'another'];
      break;
    case 'issuer':
      claims.iss = 'https://evil.example';
      break;
    case 'expired':
      claims.exp = now - 1;
      claims.iat = now - 3600;
      break;
    case 'none':
      return `${encoded({ ...header, alg: 'none' })}.${encoded(claims)}.`;
    case 'secret': {
      const text = `${encoded({ ...header, alg: 'HS256' })}.${encoded(claims)}`;
      return `${text}.${crypto.createHmac('sha256', SECRET).update(text).digest('base64url')}`;
    }
    case 'key':
      key = other.privateKey;
      break;
    case 'unknown-key':
      header.kid = 'of-another-run';
      break;
    default:
      return token;
  }
  const text = `${encoded(header)}.${encoded(claims)}`;
  return `${text}.${crypto.sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`;
}

function encoded(json) {
  return Buffer.from(JSON.stringify(json)).toString('base64url');
}
