/** The page goes on at another DAC when its own has ended. */
export const goingOnStrings = {
  goingOn: {
    waiting: 'The page goes on at another DAC in a moment.',
    looking: 'The page looks for another DAC that works.',
    opening: (name: string) => `Opening ${name}.`,
    paused: 'The page is paused, so it stays here. Return to now (l) to go on at another DAC.',
    stays: 'The page stays here, as you chose.',
    tooOften: 'The page has changed its DAC too often in the last 10 minutes, so it stays here.',
    stay: 'Stay here',
    goOn: 'Go on at another DAC',
    went: (from: string, to: string, time: string) =>
      `The page went on from ${from} to ${to} at ${time}: ${from} did not answer.`,
    close: 'Close',
    goesOn: 'Go on at another DAC when this one has ended',
    goesOnTip: 'This browser remembers the choice for this DAC.',
  },
};
