public import Foundation
internal import RecordModel
internal import WireProtocol

/// An explanation of one record: who may use it, which subscriptions are about it, and which
/// installations have it.
///
/// Beyond CloudKit, which never says whether another device has got a change.
///
/// The owner of a private database sees their own installations and those of the participants of the
/// record's share. All other users see their own. Subscriptions are those of the user.
///
/// - Source: beyond Apple.
public struct CKRecordExplanation: Sendable {
    /// The rights of a user or a role to the record.
    public struct Access: Hashable, Sendable {
        /// A user record name, a role, or an address that was invited.
        public let name: String
        /// Whether the record may be read.
        public let mayRead: Bool
        /// Whether records like this one may be created.
        public let mayCreate: Bool
        /// Whether the record may be changed and deleted.
        public let mayWrite: Bool
        /// For people.
        public let reason: String
    }

    /// A subscription, and whether it fires for the last change of the record.
    public struct Subscription: Hashable, Sendable {
        /// The ID, unique among those of its user in the database.
        public let subscriptionID: CKSubscription.ID
        /// The record name of its user.
        public let userRecordName: String
        /// Whether the last change of the record is one for which the subscription fires.
        public let fires: Bool
        /// For people.
        public let reason: String
    }

    /// One installation of a program of a user, and whether it has the record.
    public struct Installation: Hashable, Sendable {
        /// The state of the record there.
        public enum State: Hashable, Sendable {
            /// The installation came back with a token behind the record's last change.
            case hasIt
            /// A page with the record was sent, and the installation has not come back since.
            case wasSent
            /// It lacks changes of the zone; `nil` if they were not counted, and 1,000 stands for as
            /// many or more.
            case isBehind(changes: Int?)
            /// It never fetched the changes of the zone.
            case neverCame
            /// Its user may not read the record.
            case mayNotRead
            /// It began to follow the zone later, with a token for now.
            case passedOver
            /// The server is newer than this client, and said something else.
            case unknown
        }

        /// The 16 bytes that name the installation; `nil` if none of the user is known.
        public let id: Data?
        /// The record name of its user.
        public let userRecordName: String
        /// The state of the record there.
        public let state: State
        /// When it fetched changes of the zone last; `nil` if it never did.
        public let lastSeen: Date?
        /// For people; empty if the state says everything.
        public let reason: String
    }

    /// The record.
    public let recordID: CKRecord.ID
    /// The type of the record.
    public let recordType: CKRecord.RecordType
    /// The change tag that the server has.
    public let recordChangeTag: String
    /// The position of the last change in the order of its database.
    public let position: Int64
    /// When the record was created, by the server's clock.
    public let creationDate: Date
    /// When the record was saved last, by the server's clock.
    public let modificationDate: Date
    /// The record name of the user who created the record.
    public let creatorRecordName: String
    /// The record name of the user who saved the record last.
    public let lastModifierRecordName: String
    /// The rights to the record, as far as the user may know.
    public let access: [Access]
    /// The subscriptions of the user in the database.
    public let subscriptions: [Subscription]
    /// The installations that the user may know; those of one user stand together, the one that came
    /// last first.
    public let installations: [Installation]
    /// Whether more subscriptions or installations are known than the 1,000 that are listed.
    public let isTruncated: Bool
}

// Beyond Apple's surface.
extension CKDatabase {
    /// Asks the server what it knows of a record, and which installations have it.
    ///
    /// Beyond CloudKit. A token that an installation presents proves that the installation has
    /// everything before it. So a record counts as delivered when the installation has come back for
    /// more.
    ///
    /// - Parameter recordID: A record that the user may read.
    /// - Returns: The explanation, with the parts that the user may know.
    /// - Throws: `CKError`: `notAuthenticated` if no user is signed in; `unknownItem`,
    ///   `zoneNotFound` and `permissionFailure` as a fetch of the record; `requestRateLimited`,
    ///   `serviceUnavailable` or `networkFailure` (repeat later).
    public func explanation(of recordID: CKRecord.ID) async throws -> CKRecordExplanation {
        try await self.results { ExplanationFetch(of: recordID, scope: $0) }.onlyValue.get()
    }
}

/// A request for the explanation of one record.
struct ExplanationFetch: BatchRequest {
    typealias ItemID = CKRecord.ID
    typealias Value = CKRecordExplanation

    static let partialFailureText = "Failed to explain the record"

    private let scope: DatabaseScopeModel
    private let id: CKRecord.ID

    init(of id: CKRecord.ID, scope: DatabaseScopeModel) {
        self.id = id
        self.scope = scope
    }

    var itemCount: Int? { 1 }
    var roles: RequestRoles<Self> { RequestRoles(subject: ErrorSubject(self.id, scope: self.scope)) }

    func operation(user: String) throws(CKError) -> RequestModel {
        .explainRecord(ExplainRecord(scope: self.scope, id: self.id.model))
    }

    func result(of item: Item, user: String) -> ItemResult? {
        guard item.index == 0 else { return nil }
        guard case .explanation(let explanation) = item.outcome else {
            return .value(self.id, .failure(item.outcome.error(user: user, about: self.roles.subject)))
        }
        return .value(self.id, .success(CKRecordExplanation(explanation, of: self.id)))
    }
}

extension CKRecordExplanation {
    fileprivate init(_ explanation: RecordExplanation, of id: CKRecord.ID) {
        let record = explanation.record
        self.recordID = id
        self.recordType = record.recordType
        self.recordChangeTag = record.changeTag
        self.position = explanation.position
        self.creationDate = Self.date(record.system.createdMilliseconds)
        self.modificationDate = Self.date(record.system.modifiedMilliseconds)
        self.creatorRecordName = record.system.createdBy
        self.lastModifierRecordName = record.system.modifiedBy
        self.access = explanation.access.map { access in
            Access(
                name: access.who,
                mayRead: access.may.contains(.read),
                mayCreate: access.may.contains(.create),
                mayWrite: access.may.contains(.write),
                reason: access.why
            )
        }
        self.subscriptions = explanation.matches.map { match in
            Subscription(
                subscriptionID: match.subscriptionID,
                userRecordName: match.userRecordName,
                fires: match.isMatch,
                reason: match.why
            )
        }
        self.installations = explanation.deliveries.map { delivery in
            Installation(
                id: delivery.installation.isEmpty ? nil : Data(delivery.installation),
                userRecordName: delivery.userRecordName,
                state: Installation.State(delivery),
                lastSeen: delivery.seenMilliseconds == 0 ? nil : Self.date(delivery.seenMilliseconds),
                reason: delivery.why
            )
        }
        self.isTruncated = explanation.isTruncated
    }

    private static func date(_ milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }
}

extension CKRecordExplanation.Installation.State {
    fileprivate init(_ delivery: RecordExplanation.Delivery) {
        switch delivery.state {
        case .hasIt: self = .hasIt
        case .wasSent: self = .wasSent
        case .isBehind:
            let count = Int(clamping: delivery.changesBehind)
            self = .isBehind(changes: count == 0 ? nil : count)
        case .neverCame: self = .neverCame
        case .mayNotRead: self = .mayNotRead
        case .passedOver: self = .passedOver
        case .unknown: self = .unknown
        }
    }
}
