import type { Reporter, TestModule } from 'vitest/node';

const MAX_LINES_PER_ERROR = 6;

/** Lists the failed tests once more as the last lines of a run: a log that keeps only its end still names them. */
export class FailedTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = modules.flatMap(failures);
    if (lines.length > 0) console.log(['Failed', ...lines, ''].join('\n'));
  }
}

function failures(module: TestModule): string[] {
  const ofFile = module.errors().map((error) => entry(module.relativeModuleId, error.message));
  const ofGroups = [...module.children.allSuites()].flatMap((group) =>
    group.errors().map((error) => entry(`${module.relativeModuleId} > ${group.fullName}`, error.message)),
  );
  const ofTests = [...module.children.allTests('failed')].map((test) => {
    const messages = (test.result().errors ?? []).map((error) => error.message);
    return entry(`${module.relativeModuleId} > ${test.fullName}`, messages.join('\n'));
  });
  return [...ofFile, ...ofGroups, ...ofTests];
}

function entry(name: string, message: string): string {
  const lines = message.split('\n').slice(0, MAX_LINES_PER_ERROR);
  return [`    ${name}`, ...lines.map((line) => `        ${line}`)].join('\n');
}
