import { ApplicationFailure } from '@temporalio/common';

/** A payment's workflow that was started by hand, or that a restored book doesn't know any more. */
export function unknownPayment(id: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`the book has no payment ${id}`, 'NoSuchPayment');
}
