/** Sign-in. */
export const sessionStrings = {
  session: {
    title: 'Sign in',
    why: 'This DAC shows its samples to people with an account.',
    noRights: (name: string) =>
      `${name} may read nothing here. Ask an administrator for a role, or sign in as another user.`,
    byLink: 'On the host of the DAC, oasis user sign-in-link prints a link that signs in.',
    name: 'User name',
    password: 'Password',
    /** Codes of docs/reference/permissions.md. */
    failed: (code: string) =>
      ({
        provider_down:
          'The provider of identity does not answer. Sign in with a password, or try again later.',
        denied: 'The provider of identity has refused.',
        other_flow: 'This sign-in was begun in another browser, or more than 10 minutes ago. Try again.',
        bad_answer:
          'The answer of the provider of identity is not valid. Try again; the log of the DAC has the reason.',
        no_name: 'The provider of identity names no user. Its claim must be set (access.oidc.name_claim).',
        no_role: 'None of your groups has a role here. Ask an administrator.',
        no_account: 'You have no account here, or it belongs to somebody else. Ask an administrator.',
        busy: 'Too many people sign in. Try again in a few seconds.',
      })[code] ?? 'The sign-in has failed. Try again.',
    signIn: 'Sign in',
    signOut: 'Sign out',
    signedIn: (name: string) => `Sign out ${name}`,
  },
};
