internal import Foundation
internal import RecordModel
internal import WireProtocol

// Beyond Apple's surface.
extension CKZoneSnapshot {
    /// The position of a snapshot: how much of it has come, and how to continue.
    ///
    /// It is a value to be stored, and is valid in another process too.
    public struct State: Codable, Hashable, Sendable {
        /// The order of the records.
        public let order: Order
        /// The fields to fetch; all if `nil`, none if empty.
        public let desiredKeys: [CKRecord.FieldKey]?
        /// How many records have come, without those that changed after the snapshot began.
        public private(set) var recordsFetched = 0
        /// How many records there were when the snapshot began; 0 before the first page.
        public private(set) var recordsTotal = 0
        /// Their encoded size without assets; 0 before the first page.
        public private(set) var bytesTotal = 0
        /// Whether the client has everything in the zone.
        public private(set) var isComplete = false

        private let zoneName: String
        private let ownerName: String
        private var token = Data()

        init(zoneID: CKRecordZone.ID, order: Order, desiredKeys: [CKRecord.FieldKey]?) {
            self.zoneName = zoneID.zoneName
            self.ownerName = zoneID.ownerName
            self.order = order
            self.desiredKeys = desiredKeys
        }

        /// The zone.
        public var zoneID: CKRecordZone.ID {
            CKRecordZone.ID(zoneName: self.zoneName, ownerName: self.ownerName)
        }

        /// The token to continue from; `nil` until the snapshot is complete.
        ///
        /// It is for `recordZoneChanges` and `CKFetchRecordZoneChangesOperation`.
        public var changeToken: CKServerChangeToken? { self.isComplete ? self.position : nil }

        /// How much has come, from 0 to 1.
        ///
        /// Records that change meanwhile come at the end: then it jumps to 1.
        public var fractionCompleted: Double {
            if self.isComplete { return 1 }
            guard self.recordsTotal > 0 else { return 0 }
            return Swift.min(1, Double(self.recordsFetched) / Double(self.recordsTotal))
        }

        private var position: CKServerChangeToken? {
            self.token.isEmpty ? nil : CKServerChangeToken(bytes: Array(self.token))
        }

        /// The page that comes next.
        func request(scope: DatabaseScopeModel) -> ZoneChangesPage {
            ZoneChangesPage(
                self.zoneID,
                since: self.position,
                desiredKeys: self.desiredKeys,
                order: self.order == .creation ? .creation : .newestFirst,
                scope: scope
            )
        }

        /// Advances past a page; an empty page has no deletions either.
        mutating func advance(to end: End, records: Int, isEmpty: Bool) throws(CKError) {
            let token = Data(try end.changeToken.bytes)
            if end.moreComing, isEmpty, token == self.token { throw .feedStandsStill }
            self.token = token
            if let totals = end.totals {
                self.recordsFetched += records
                self.recordsTotal = Int(clamping: totals.records)
                self.bytesTotal = Int(clamping: totals.bytes)
            }
            self.isComplete = !end.moreComing
        }
    }
}
