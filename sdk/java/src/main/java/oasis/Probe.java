package oasis;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Names the probe type of a record, as the head of a probe in PDL; also the name of a struct or enum. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Probe {
    /** The scoped PDL name, such as {@code Plant::Engine}; the default is the name of the class. */
    String name() default "";

    /** The identity. Without it, it follows from name, version and layout: another layout is another type. */
    String uuid() default "";

    /** The version. */
    String version() default "1.0";

    /** Documentation. */
    String doc() default "";

    /** The lowest rate in hertz that readers may ask for; with {@link #demandMax}, readers decide the rate of a periodic probe. */
    double demandMin() default Double.NaN;

    /** The highest rate in hertz that readers may ask for. */
    double demandMax() default Double.NaN;
}
