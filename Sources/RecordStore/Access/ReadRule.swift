/// The records of a type that a query may find.
package enum ReadRule: Hashable, Sendable {
    case all
    /// Records that this user created.
    case own(creator: String)
    /// Records of another user's zone that are members of the requester's shares.
    case shared(SharedAccess)
    case none
}
