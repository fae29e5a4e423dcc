package oasis;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;

/**
 * An EISA packet (docs/reference/eisa.md): a sample, when it was taken, and of which instance.
 *
 * @param instance the instance's name
 * @param sample the sample
 * @param sequence the sequence number: from 1, wraps at 32 bits
 * @param seconds the time since 1970-01-01 UTC
 * @param microseconds and its fraction
 * @param state the probe's state; 0 is normal
 * @param <S> the class of the sample
 */
public record EisaPacket<S>(String instance, S sample, long sequence, long seconds, long microseconds, int state) {
    private static final byte[] MAGIC = "EISA".getBytes(StandardCharsets.US_ASCII);
    private static final int DATA_ALIGNMENT = 8;
    private static final int COMMAND_BYTES = 256;

    /** Returns the bytes of the packet. */
    public byte[] encode(SampleType<S> type, ByteOrder order) {
        // Sizes do not depend on where the data begins: it is aligned like the packet.
        Writer data = new Writer.Cdr(order);
        type.write(sample, data);
        Writer packet = new Writer.Cdr(order);
        packet.octets(MAGIC, 0, MAGIC.length);
        packet.octet(1);
        packet.octet(1);
        UUID uuid = type.type().uuid();
        packet.fixed(uuid.getMostSignificantBits() >>> 32, 4);
        packet.fixed(uuid.getMostSignificantBits() >>> 16, 2);
        packet.fixed(uuid.getMostSignificantBits(), 2);
        for (int shift = 56; shift >= 0; shift -= 8) {
            packet.octet((int) (uuid.getLeastSignificantBits() >>> shift));
        }
        packet.fixed(seconds, 4);
        packet.fixed(microseconds, 4);
        packet.fixed(sequence, 4);
        packet.fixed(state, 2);
        packet.fixed(data.length, 4);
        packet.text(instance, "EisaPacket.instance");
        packet.align(DATA_ALIGNMENT);
        packet.octets(data.bytes, 0, data.length);
        return packet.toBytes();
    }

    /**
     * Decodes a packet.
     *
     * @throws DecodeException if the bytes are no packet of this type
     */
    public static <S> EisaPacket<S> decode(byte[] bytes, SampleType<S> type, ByteOrder order) {
        Reader.Cdr from = new Reader.Cdr(bytes, order);
        int magic = from.take(MAGIC.length);
        if (!new String(bytes, magic, MAGIC.length, StandardCharsets.ISO_8859_1).equals("EISA")) {
            throw new DecodeException(0, "the packet does not begin with EISA");
        }
        int major = (int) from.little(1);
        int minor = (int) from.little(1);
        if (major != 1 || minor > 1) {
            throw new DecodeException(MAGIC.length, "version " + major + "." + minor + ", supported are 1.0 and 1.1");
        }
        UUID uuid = readUuid(from);
        if (!uuid.equals(type.type().uuid())) {
            throw new DecodeException(8, "the packet is of probe type " + uuid + ", expected " + type.type().uuid());
        }
        long seconds = from.fixed(4);
        long microseconds = from.fixed(4);
        long sequence = from.fixed(4);
        int state = (int) from.fixed(2);
        long size = from.fixed(4);
        String instance = from.text();
        from.align(DATA_ALIGNMENT);
        if (size != from.left()) {
            throw new DecodeException(from.at, "expected " + size + " bytes of probe data, " + from.left() + " left");
        }
        S sample = type.read(from);
        from.finish();
        return new EisaPacket<>(instance, sample, sequence, seconds, microseconds, state);
    }

    private static UUID readUuid(Reader from) {
        long most = from.fixed(4) << 32;
        most |= from.fixed(2) << 16;
        most |= from.fixed(2);
        long least = 0;
        for (int index = 0; index < 8; index++) {
            least = least << 8 | from.little(1);
        }
        return new UUID(most, least);
    }

    /** Returns the command that asks a DAC's WebSocket for the samples of an instance. */
    public static byte[] register(String node, String instance) {
        return command(1, List.of(node, instance));
    }

    /** Returns the command that ends {@link #register}. */
    public static byte[] unregister(String node, String instance) {
        return command(2, List.of(node, instance));
    }

    /** Returns the command that changes the rate of an instance, in hertz. */
    public static byte[] changeRate(String node, String instance, double hertz) {
        return command(3, List.of(node, instance, hertz == Math.rint(hertz) ? Long.toString((long) hertz) : Double.toString(hertz)));
    }

    private static byte[] command(int opcode, List<String> texts) {
        Writer command = new Writer.Cdr(ByteOrder.LITTLE_ENDIAN);
        command.octet(opcode);
        texts.forEach(text -> command.text(text, "command"));
        if (command.length > COMMAND_BYTES) {
            throw new EncodeException("command", "the names of node and instance exceed its " + COMMAND_BYTES + " bytes");
        }
        return java.util.Arrays.copyOf(command.toBytes(), COMMAND_BYTES);
    }
}
