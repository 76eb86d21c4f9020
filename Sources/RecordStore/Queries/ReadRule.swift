/// Which records of a type a query may find.
package enum ReadRule: Hashable, Sendable {
    case all
    /// Those that the user with this record name created.
    case own(creator: String)
    /// Those that shares of somebody else's zone cover.
    case shared(SharedAccess)
    case none
}
