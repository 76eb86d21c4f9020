import RecordModel
import StorageContract
import Testing

@testable import RecordStore

struct QuotaRoomTests {
    private static func room(_ quotas: StorageQuotas, user: Int64?, container: Int64) throws -> QuotaRoom? {
        let transaction = MemoryUsage()
        transaction.stored[.user] = user
        transaction.stored[.container] = container
        return try transaction.room(in: MemoryUsage.database, under: quotas)
    }

    @Test func `the tighter quota counts, and none where there is none`() throws {
        #expect(try Self.room(.none, user: 5, container: 5) == nil)
        let both = StorageQuotas(userBytes: 100, containerBytes: 1_000)
        let ofUser = QuotaRoom(quota: Quota(of: .user, bytesMax: 100), bytes: 60)
        #expect(try Self.room(both, user: 40, container: 400) == ofUser)
        let ofContainer = QuotaRoom(quota: Quota(of: .container, bytesMax: 1_000), bytes: 10)
        #expect(try Self.room(both, user: 40, container: 990) == ofContainer)
        #expect(try Self.room(both, user: 90, container: 990) == ofContainer)
        // Nobody's database counts for its container alone.
        #expect(try Self.room(StorageQuotas(userBytes: 100), user: nil, container: 400) == nil)
        #expect(try Self.room(both, user: nil, container: 400)?.quota.holder == .container)
        // More than is permitted, after the quota was lowered.
        #expect(try Self.room(both, user: 130, container: 400)?.bytes == -30)
    }

    @Test func `growth is refused from the first byte beyond the room, and nothing else`() throws {
        let transaction = MemoryUsage()
        transaction.stored[.user] = 40
        let quotas = StorageQuotas(userBytes: 100)
        func refusal(_ growth: Int) throws -> StoreError? {
            try transaction.refusal(ofGrowth: growth, in: MemoryUsage.database, under: quotas)
        }
        #expect(try refusal(60) == nil)
        #expect(try refusal(61) == .quotaExceeded(Quota(of: .user, bytesMax: 100)))
        transaction.stored[.user] = 200
        #expect(try refusal(0) == nil)
        #expect(try refusal(-5) == nil)
        #expect(try refusal(1) != nil)
        #expect(try transaction.refusal(ofGrowth: 1, in: MemoryUsage.database, under: .none) == nil)
    }
}
