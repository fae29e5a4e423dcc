package oasis;

/** Invalid bytes; nothing else is thrown for bytes. */
public final class DecodeException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    private final int offset;

    DecodeException(int offset, String problem) {
        super("refused at byte " + offset + ": " + problem);
        this.offset = offset;
    }

    /** Returns where the bytes are wrong, counted from the first one. */
    public int offset() {
        return offset;
    }
}
