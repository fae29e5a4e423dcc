package oasis;

import java.io.IOException;
import java.util.Set;

/** Why a connection to a DAC ended, or could not be made. */
final class ChannelException extends IOException {
    private static final long serialVersionUID = 1;

    /** Refusals that say nothing about the next attempt. */
    private static final Set<String> TEMPORARY = Set.of("draining", "hello_timeout", "idle_timeout", "memory_limit", "node_moved");

    /** The code of the DAC's refusal, or null. */
    final String code;

    ChannelException(String message) {
        this(null, message);
    }

    ChannelException(String code, String message) {
        super(code == null ? message : message + " (" + code + ")");
        this.code = code;
    }

    /** Returns whether the DAC will refuse the node again if nobody changes anything. */
    boolean isFinal() {
        return code != null && !TEMPORARY.contains(code);
    }
}
