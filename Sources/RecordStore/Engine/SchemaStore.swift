package import RecordModel

/// The schemas of containers, and the roles of their users.
///
/// Blocking calls of the command line and of tests, as those of `Directory`: never on an event loop. A server that serves the
/// same files minds a change with its next transaction.
package protocol SchemaStore: Sendable {
    /// The schema in force, user records included.
    func schema(
        ofContainer container: String,
        environment: Environment
    ) throws(SchemaStoreError) -> SchemaDocument

    /// What a change would do, without doing it.
    ///
    /// Throws what `apply` would throw.
    func preview(
        _ change: SchemaChange,
        inContainer container: String
    ) throws(SchemaStoreError) -> SchemaDifference

    /// Makes a change, all of it or nothing, and returns what became different.
    ///
    /// - Order: saves before it were judged by the old schema, saves after it by the new one.
    /// - Durability: returns after the commit is on disk. Contents that a reset drops can't be seen any more; their space is
    ///   given back later, in pieces. An index on a field that records have is complete some time later.
    /// - Throws: `contradictsProduction`, `beyondLimits`, `inUse`, `containerMissing`, `unavailable`.
    @discardableResult
    func apply(
        _ change: SchemaChange,
        inContainer container: String
    ) throws(SchemaStoreError) -> SchemaDifference

    /// Gives a user a custom role, or takes it away, in one environment.
    ///
    /// It counts from the next request on, on connections that are open as well. Doing it twice does nothing.
    func setRole(
        _ role: String,
        ofUser user: String,
        isGiven: Bool,
        inContainer container: String,
        environment: Environment
    ) throws(SchemaStoreError)

    /// The custom roles of a user, by name.
    func roles(
        ofUser user: String,
        inContainer container: String,
        environment: Environment
    ) throws(SchemaStoreError) -> [String]
}

package enum SchemaStoreError: Error, Hashable, Sendable {
    case containerMissing
    case userMissing
    /// The schema of the environment has no such role.
    case roleMissing
    /// Data of production would be lost.
    case contradictsProduction([SchemaLoss])
    /// An import or a deploy would make more of something than there may be.
    case beyondLimits([SchemaExcess])
    /// Data of development would be lost: there are records of these types.
    case inUse([SchemaLoss])
    /// The database cannot be read or written now.
    case unavailable
}
