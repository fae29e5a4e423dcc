package oasis;

/** What happens to a sample that finds the ring of its probe full. The flush waits in neither case. */
public enum Overflow {
    /** The sample is dropped and counted. */
    DROP_NEWEST,
    /** The oldest samples are dropped and counted until there is room. */
    DROP_OLDEST
}
