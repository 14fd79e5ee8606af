import type { Sample, SoakFigures } from '../../../bench/soak/figures.js';

const START_BYTES = 300 * 2 ** 20;
const PER_SECOND = 20;
const EVERY_MS = 5_000;

/** Memory that grows by some bytes with each of 20 payments a second, read every five seconds. */
export function ramp(minutes: number, bytesAPayment: number): Sample[] {
  return Array.from({ length: (minutes * 60_000) / EVERY_MS + 1 }, (_, index) => {
    const atMs = index * EVERY_MS;
    return { atMs, bytes: START_BYTES + (atMs / 1_000) * PER_SECOND * bytesAPayment };
  });
}

export const figures: SoakFigures = {
  system: 'sanaga-postgres',
  machine: 'Measured on a machine.',
  rate: PER_SECOND,
  limit: 28,
  periods: [0, 1].map((minute) => ({
    ...{ atMs: minute * 60_000, payments: 1_200, perSecond: 20, startP50: 40, startP99: 90 + minute },
    ...{ outcomeP50: 30, outcomeP99: 70 + minute, withoutLink: 0, repeated: 0, notifiedAgain: 2 },
  })),
  processes: [
    { name: 'api', resident: ramp(20, 100), heap: ramp(20, 10) },
    { name: 'worker', resident: ramp(20, 200), heap: ramp(20, 0) },
    { name: 'server', resident: ramp(20, 9_000), heap: [] },
  ],
};
