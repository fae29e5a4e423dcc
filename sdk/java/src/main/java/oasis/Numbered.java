package oasis;

/** A constant of an enum whose number on the wire is not its ordinal. */
public interface Numbered {
    /** Returns the number, the same each time; of at most 32 bits. */
    int number();
}
