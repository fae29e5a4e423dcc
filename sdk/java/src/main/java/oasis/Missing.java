package oasis;

/** Samples that have a sequence number but are in no batch, by cause (docs/reference/loss.md). */
final class Missing {
    long ringFull;
    long keptBack;
    long invalidRow;
    long notTaken;

    void add(Missing more) {
        ringFull += more.ringFull;
        keptBack += more.keptBack;
        invalidRow += more.invalidRow;
        notTaken += more.notTaken;
    }

    long total() {
        return ringFull + keptBack + invalidRow + notTaken;
    }

    Missing copy() {
        Missing copy = new Missing();
        copy.add(this);
        return copy;
    }
}
