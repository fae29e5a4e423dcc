/** The panel of images. Its code is loaded when the first one is shown. */
export const imageStrings = {
  alt: (name: string, metric: string, sequence: string, age: string) =>
    `Image ${metric} of ${name}, sample ${sequence}, ${age} old`,
  none: 'No image at the time shown.',
  reading: 'Reading the image\u2026',
  failed: 'The DAC did not send the image of this time.',
  undecoded: (sequence: string, problem: string) => `Sample ${sequence} is not shown: ${problem}`,
  damaged: 'the browser cannot decode it',
  sample: 'Sample',
  age: 'Age',
  size: 'Size',
  pixels: (width: string, height: string) => `${width} \u00d7 ${height}`,
  kept: 'In memory',
  keptFrames: (frames: string, bytes: string) => `${frames} (${bytes})`,
  evicted: (count: string) => `${count} evicted`,
  keptTip: 'Images that this page keeps. The oldest are evicted; the DAC sends those that it still has.',
};
