/** How jobs are laid over workers that suit them: `packed` keeps whole machines free for large jobs, `spread` keeps load even. */
export const POLICY_NAMES = ['packed', 'spread'] as const
export type PolicyName = (typeof POLICY_NAMES)[number]
