package oasis;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** What a component of a record means, as the attributes of a metric in PDL. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Metric {
    /** The name, if the component has another one. */
    String name() default "";

    /** The number type on the wire, if it is not that of the component: {@code UINT16} for an {@code int}. */
    MetricType.Primitive[] type() default {};

    /** The unit, in UCUM. */
    String unit() default "";

    /** One of {@code counter}, {@code gauge}, {@code state}, {@code event}. */
    String kind() default "";

    /** A name for people. */
    String label() default "";

    /** Documentation. */
    String doc() default "";

    /** The least value that makes sense. */
    double min() default Double.NaN;

    /** The greatest value that makes sense. */
    double max() default Double.NaN;

    /** Values above are worth a warning. */
    double warnAbove() default Double.NaN;

    /** Values below are worth a warning. */
    double warnBelow() default Double.NaN;

    /** Values above are worth an alarm. */
    double alarmAbove() default Double.NaN;

    /** Values below are worth an alarm. */
    double alarmBelow() default Double.NaN;
}
