import RecordModel
import StorageContract

extension Prefetch.Records {
    /// Records that a requester names, by zone, as far as the requester's database can have them.
    static func named(_ ids: some Sequence<RecordID>, by requester: Requester) -> [Self] {
        var named: [Self] = []
        var last: (id: ZoneID, isStored: Bool)?
        for id in ids {
            if id.zone != last?.id {
                let zone = Access.storedName(of: id.zone, for: requester)
                if let zone { named.append(Self(database: requester.database, zone: zone, names: [])) }
                last = (id.zone, zone != nil)
            }
            if last?.isStored == true { named[named.count - 1].names.append(id.recordName) }
        }
        return named
    }
}
