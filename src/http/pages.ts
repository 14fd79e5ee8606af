import express, { type Express } from 'express';
import helmet from 'helmet';

interface PagesOptions {
  /** Proxies before the app that tell it the caller's address and protocol. */
  readonly trustedProxies: number;
  /** Address of the style sheet, as a source in a Content-Security-Policy. */
  readonly styleSource: string;
}

/**
 * An Express app for pages that people sign in on. Pages load nothing but their style sheet, their forms go nowhere
 * else, nobody may frame them, and no cache may keep them: they have personal data, and change.
 */
export function createPages({ trustedProxies, styleSource }: PagesOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustedProxies);
  app.use(
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          styleSrc: [styleSource],
          formAction: ["'self'"],
          frameAncestors: ["'none'"],
          baseUri: ["'none'"],
        },
      },
      xFrameOptions: { action: 'deny' },
      // With Helmet's default, a form's Origin would be null.
      referrerPolicy: { policy: 'same-origin' },
      xDownloadOptions: false,
    }),
    (_, response, next) => {
      response.set('Cache-Control', 'no-store');
      next();
    },
  );
  return app;
}
