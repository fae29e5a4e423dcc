//! Words that a PDL name cannot be in C++.

use crate::names::is_in;

/// Key words of C++17 and C++20, and alternative tokens.
const KEYWORDS: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class \
    co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do \
    double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace new \
    noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires return short signed \
    sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union \
    unsigned using virtual void volatile wchar_t while xor xor_eq";

/// Macros that the headers of the standard library bring along, if not everywhere.
const MACROS: &str = "BIG_ENDIAN BUFSIZ BYTE_ORDER EOF EXIT_FAILURE EXIT_SUCCESS LITTLE_ENDIAN NULL RAND_MAX SEEK_CUR SEEK_END SEEK_SET \
    TMP_MAX alloca assert errno linux offsetof stderr stdin stdout unix";

/// Macros of `<errno.h>`.
const ERRORS: &str = "E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EAFNOSUPPORT EAGAIN EALREADY EBADF EBADMSG EBUSY ECANCELED ECHILD ECONNABORTED \
    ECONNREFUSED ECONNRESET EDEADLK EDESTADDRREQ EDOM EDQUOT EEXIST EFAULT EFBIG EHOSTDOWN EHOSTUNREACH EIDRM EILSEQ EINPROGRESS EINTR \
    EINVAL EIO EISCONN EISDIR ELOOP EMFILE EMLINK EMSGSIZE EMULTIHOP ENAMETOOLONG ENETDOWN ENETRESET ENETUNREACH ENFILE ENOBUFS \
    ENODATA ENODEV ENOENT ENOEXEC ENOLCK ENOLINK ENOMEM ENOMSG ENOPROTOOPT ENOSPC ENOSR ENOSTR ENOSYS ENOTCONN ENOTDIR ENOTEMPTY \
    ENOTRECOVERABLE ENOTSOCK ENOTSUP ENOTTY ENXIO EOPNOTSUPP EOVERFLOW EOWNERDEAD EPERM EPIPE EPROTO EPROTONOSUPPORT EPROTOTYPE \
    ERANGE EREMOTE EROFS ESHUTDOWN ESOCKTNOSUPPORT ESPIPE ESRCH ESTALE ETIME ETIMEDOUT ETXTBSY EWOULDBLOCK EXDEV";

/// Namespaces that generated code refers to, and the function that it declares beside enums.
const NAMESPACES: &str = "is_declared oasis std";

/// Names that the C library declares outside of any namespace and that a module or a type could have.
const GLOBALS: &str = "abort abs access alarm bind clock close connect dev_t div exit exp fd_set floor fork free gamma getenv index kill \
    link listen log malloc off_t open pause pipe pow printf raise rand random read realloc remove rename round select send sigaction \
    signal sleep socket stat sync system time timer_t timespec timeval tm truncate uid_t wait write";

/// Methods of every generated struct.
const METHODS: &str = "decode encode read write";

/// Constants of every generated probe.
const CONSTANTS: &str = "name schema uuid version";

/// The use of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameScope {
    /// A module or a type outside of any module.
    Root,
    /// A module or a type in a module.
    Namespace,
    /// A member of a struct.
    Struct,
    /// A metric of a probe.
    Probe,
    /// A value of an enum.
    Enum,
}

/// Whether a name is taken there.
pub fn is_reserved(name: &str, place: NameScope) -> bool {
    let outside: &[&str] = match place {
        NameScope::Root => &[NAMESPACES, GLOBALS],
        NameScope::Namespace => &[NAMESPACES],
        NameScope::Struct | NameScope::Probe | NameScope::Enum => &[],
    };
    is_word(name) || is_in(name, outside) || own_names(place).any(|own| own == name)
}

/// Whether the language, or a common macro, has the name for itself everywhere.
pub fn is_word(name: &str) -> bool {
    is_in(name, &[KEYWORDS, MACROS, ERRORS])
}

/// Whether the C library has the name outside of any namespace.
pub fn is_global(name: &str) -> bool {
    is_in(name, &[GLOBALS])
}

/// The other names of a struct, beside its members.
pub fn own_names(place: NameScope) -> impl Iterator<Item = String> {
    let lists: &[&str] = match place {
        NameScope::Struct => &[METHODS],
        NameScope::Probe => &[METHODS, CONSTANTS],
        NameScope::Root | NameScope::Namespace | NameScope::Enum => &[],
    };
    lists.iter().flat_map(|list| list.split(' ')).map(String::from)
}
