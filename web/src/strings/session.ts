/** Sign-in. */
export const sessionStrings = {
  session: {
    title: 'Sign in',
    why: 'This DAC shows its samples to people with an account.',
    noRights: (name: string) =>
      `${name} may read nothing here. Ask an administrator for a role, or sign in as another user.`,
    name: 'User name',
    password: 'Password',
    signIn: 'Sign in',
    signOut: 'Sign out',
    signedIn: (name: string) => `Sign out ${name}`,
  },
};
