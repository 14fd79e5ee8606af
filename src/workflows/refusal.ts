import { ApplicationFailure } from '@temporalio/workflow';

/** What a message to a payment is refused with. Temporal shows the type to the caller, who makes a problem document of it. */
export function refusal(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}
