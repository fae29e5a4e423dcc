export function RulesPanel() {
  return <section class="panel" data-testid="rules" />;
}
