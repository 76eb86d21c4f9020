import RecordModel
import RecordServer
import RecordStore

// Items of a request, for faults that befall one of them.
extension AdmittedRequest {
    var itemCount: Int {
        switch self {
        case .write(let write):
            switch write.operation {
            case .modifyRecords(let modify): modify.saves.count + modify.deletes.count
            case .modifyZones(let modify): modify.saves.count + modify.deletes.count
            case .modifySubscriptions(let modify): modify.saves.count + modify.deletes.count
            case .acceptShares(let accept): accept.tokens.count
            case .requestShareAccess(let request): request.tokens.count
            }
        case .fetchRecords(let fetch, _): fetch.ids.count
        case .fetchZones(.ids(let ids), _): ids.count
        case .fetchSubscriptions(.ids(let ids), _): ids.count
        case .fetchShareMetadata(let fetch, _): fetch.tokens.count
        case .fetchShareParticipants(let fetch, _): fetch.lookups.count
        case .explain: 1
        case .fetchZones(.all, _), .fetchSubscriptions(.all, _), .query, .feed, .checkSchema, .listen: 0
        case .upload, .download: 0
        }
    }

    var isAtomic: Bool {
        guard case .write(let write) = self, case .modifyRecords(let modify) = write.operation else {
            return false
        }
        return modify.isAtomic
    }

    /// The request without one of its items.
    func removingItem(_ number: Int) -> AdmittedRequest {
        switch self {
        case .write(var write):
            switch write.operation {
            case .modifyRecords(var modify):
                Self.remove(number, from: &modify.saves, then: &modify.deletes)
                write.operation = .modifyRecords(modify)
            case .modifyZones(var modify):
                Self.remove(number, from: &modify.saves, then: &modify.deletes)
                write.operation = .modifyZones(modify)
            case .modifySubscriptions(var modify):
                Self.remove(number, from: &modify.saves, then: &modify.deletes)
                write.operation = .modifySubscriptions(modify)
            case .acceptShares(var accept):
                accept.tokens.remove(at: number)
                write.operation = .acceptShares(accept)
            case .requestShareAccess(var request):
                request.tokens.remove(at: number)
                write.operation = .requestShareAccess(request)
            }
            return .write(write)
        case .fetchRecords(var fetch, let requester):
            fetch.ids.remove(at: number)
            return .fetchRecords(fetch, requester)
        case .fetchZones(.ids(var ids), let requester):
            ids.remove(at: number)
            return .fetchZones(.ids(ids), requester)
        case .fetchSubscriptions(.ids(var ids), let requester):
            ids.remove(at: number)
            return .fetchSubscriptions(.ids(ids), requester)
        case .fetchShareMetadata(var fetch, let requester):
            fetch.tokens.remove(at: number)
            return .fetchShareMetadata(fetch, requester)
        case .fetchShareParticipants(var fetch, let requester):
            fetch.lookups.remove(at: number)
            return .fetchShareParticipants(fetch, requester)
        case .fetchZones(.all, _), .fetchSubscriptions(.all, _), .query, .feed, .checkSchema, .listen:
            return self
        case .upload, .download, .explain:
            return self
        }
    }

    private static func remove<Save, Delete>(
        _ number: Int,
        from saves: inout [Save],
        then deletes: inout [Delete]
    ) {
        if number < saves.count {
            saves.remove(at: number)
        } else {
            deletes.remove(at: number - saves.count)
        }
    }
}
