import { collectionBody, toCollectionOrder } from '../orders/collection-body.js';
import { keyedRoute } from '../route.js';
import { answerBegun } from './answer-begun.js';

export const createCollection = keyedRoute({
  method: 'post',
  path: '/v1/collections',
  summary: 'Collect money from a payer, by a link or directly',
  scopes: ['collections'],
  body: collectionBody,
  answer: (call, api) => answerBegun('collection', toCollectionOrder, call, api),
});
