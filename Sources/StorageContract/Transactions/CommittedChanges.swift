import RecordModel

/// The changes that one transaction made in watched databases.
package struct CommittedChanges: Hashable, Sendable {
    /// The server's clock, milliseconds since 1970.
    package var committedMilliseconds: Int64
    /// In the order in which they were made; the positions of each database ascend.
    package var changes: [CommittedChange]
    /// Databases with changes that are missing in `changes`, with the position up to which they
    /// changed: too much changed, or another process or node has written.
    ///
    /// The missing changes are in the rows, behind the position that was reported last
    /// (`ChangeTail`). Changes of other processes are reported with the next transaction. If a
    /// transaction asked for the position of the database (`ChangeTransaction.position`), they are
    /// reported within a second or two.
    package var incomplete: [DatabaseID: Int64]
    /// Databases that have their last changes in `changes`, with the position up to which they changed.
    ///
    /// Earlier changes are no longer in the rows. A record that changed twice has its last change
    /// here, and one that was deleted and made again looks new. Subscriptions may have been saved
    /// and deleted as well. An engine that reads the changes of another node from the rows reports
    /// this way.
    package var overwritten: [DatabaseID: Int64]

    package init(
        committedMilliseconds: Int64,
        changes: [CommittedChange],
        incomplete: [DatabaseID: Int64] = [:],
        overwritten: [DatabaseID: Int64] = [:]
    ) {
        self.committedMilliseconds = committedMilliseconds
        self.changes = changes
        self.incomplete = incomplete
        self.overwritten = overwritten
    }
}

/// One change in a watched database.
package struct CommittedChange: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Created, updated or deleted.
        ///
        /// Records that go along with a deleted record are included; those that go with their zone
        /// are not.
        case record(CommittedRecord)
        /// Zones by name; a reset of development deletes and creates `_defaultZone` as well.
        case zoneCreated(String)
        /// The zone of another user, in a shared database.
        case zoneChanged(String)
        /// Its subscriptions are deleted right after it, at the same position.
        case zoneDeleted(String)
        /// Replaces the subscription that its owner had under the ID before.
        case subscriptionSaved(WatchedSubscription)
        case subscriptionDeleted(SubscriptionKey)
    }

    package var database: DatabaseID
    package var environment: EnvironmentID
    package var position: Int64
    /// `WriteRequest.origin` of the request; `nil` also if several connections made the change.
    package var origin: ChangeOrigin?
    package var kind: Kind

    package init(
        database: DatabaseID,
        environment: EnvironmentID,
        position: Int64,
        origin: ChangeOrigin?,
        kind: Kind
    ) {
        self.database = database
        self.environment = environment
        self.position = position
        self.origin = origin
        self.kind = kind
    }
}

/// A record before and after a change.
package struct CommittedRecord: Hashable, Sendable {
    /// The zone's name.
    package var zone: String
    package var name: String
    /// The record before the change; `nil` if it was created.
    package var before: StoredRecord?
    /// Whether `before` is whole.
    ///
    /// Rows have only the type and the creator of a record that another node replaced or deleted.
    package var isBeforeKnown = true
    /// The record after the change; `nil` if it was deleted.
    package var after: StoredRecord?
    /// The fields of its type as they are after the change.
    ///
    /// `QueryableType(_:)` makes the type from them that predicates are checked against.
    package var definitions: FieldDefinitions

    package init(
        zone: String,
        name: String,
        before: StoredRecord?,
        after: StoredRecord?,
        definitions: FieldDefinitions
    ) {
        self.zone = zone
        self.name = name
        self.before = before
        self.after = after
        self.definitions = definitions
    }

    package var recordType: String { self.after?.recordType ?? self.before?.recordType ?? "" }
}

extension QueryableType {
    /// A type for callers that read records but no indexes: an index that is being built counts as
    /// built.
    ///
    /// `building` names these indexes, for callers that read indexes.
    package init(_ definitions: FieldDefinitions, building: Set<Int64> = []) {
        self.init()
        for (field, definition) in definitions.all {
            self.fields[field] = QueryableField(
                type: definition.type,
                isNumber: definition.isNumber,
                isEncrypted: definition.isEncrypted,
                indexes: definition.indexes,
                index: definition.index,
                isBuilding: definition.index.map { building.contains($0) } ?? false
            )
        }
    }
}
