import Testing

/// The manifest is what the build obeys; every table of modules says the same.
@Suite
struct ManifestTests {
    private func guide() throws -> Document {
        try #require(try Document.all().first { $0.path == "Sources/README.md" })
    }

    @Test
    func `the table of modules in the server's guide is the manifest's`() throws {
        let manifest = try Manifest.read()
        #expect(manifest.targets.count > 30)
        let document = try self.guide()
        #expect(ModuleTables.rows(below: "| module | may use |", in: document).count > 8)
        let errors = ModuleTables.moduleErrors(in: document, against: manifest)
        #expect(errors.isEmpty, "\(errors)")
    }

    @Test
    func `the table of packages in the server's guide is the manifest's`() throws {
        let manifest = try Manifest.read()
        #expect(manifest.dependencies.count > 10)
        let document = try self.guide()
        #expect(ModuleTables.rows(below: "| package | used by |", in: document).count > 8)
        let errors = ModuleTables.packageErrors(in: document, against: manifest)
        #expect(errors.isEmpty, "\(errors)")
    }

    @Test
    func `the table of the architecture is the manifest's`() throws {
        let errors = ModuleTables.architectureErrors(Architecture.rows, against: try Manifest.read())
        #expect(errors.isEmpty, "\(errors)")
    }

    private static let planted = Manifest(
        text: """
            func nio(_ name: String) -> Target.Dependency { .product(name: name, package: "swift-nio") }
            let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
            let targets: [Target] = [
                .target(name: "A", path: "Protocol/A", swiftSettings: settings),
                .executableTarget(
                    name: "b",
                    dependencies: ["A", nio("NIOCore"), logging],
                    path: "Sources/B"
                ),
                .testTarget(name: "CTests", dependencies: ["A", logging], path: "Tests/CTests"),
            ]
            let dependencies = [
                .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
                .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
            ]
            """
    )

    @Test
    func `targets, products and packages are read`() {
        #expect(
            Self.planted.targets == [
                Manifest.Target(name: "A", folder: "Protocol/A", ours: [], products: []),
                Manifest.Target(
                    name: "b",
                    folder: "Sources/B",
                    ours: ["A"],
                    products: ["NIOCore", "Logging"]
                ),
                Manifest.Target(name: "CTests", folder: "Tests/CTests", ours: ["A"], products: ["Logging"]),
            ]
        )
        #expect(Self.planted.packages == ["NIOCore": "swift-nio", "Logging": "swift-log"])
        #expect(Self.planted.dependencies == ["swift-nio", "swift-log"])
        #expect(Self.planted.users(of: "swift-log") == ["b"])
    }

    @Test(
        arguments: [
            ("| `A` | – | x |\n| `b` | `A` | x |", 0), ("| `A` | – | x |", 1),
            ("| `A` | `b` | x |\n| `b` | `A` | x |", 1),
            ("| `A` | – | x |\n| `b` | – | x |", 1),
            ("| `A` | – | x |\n| `b` | `A` | x |\n| `c` | – | x |", 1),
        ]
    )
    func `a wrong row of the table of modules is seen`(rows: String, errors: Int) {
        let text = "| module | may use | holds |\n|---|---|---|\n\(rows)\n\nText.\n"
        let document = Document(path: "planted.md", text: text)
        #expect(ModuleTables.moduleErrors(in: document, against: Self.planted).count == errors)
    }

    @Test(
        arguments: [
            ("| swift-nio, swift-log | b | x |", 0), ("| swift-nio | b | x |", 1),
            ("| swift-nio, swift-log | A, b | x |", 2), ("| swift-nio, swift-log, other | b | x |", 2),
        ]
    )
    func `a wrong row of the table of packages is seen`(rows: String, errors: Int) {
        let document = Document(
            path: "planted.md",
            text: "| package | used by | why |\n|---|---|---|\n\(rows)\n"
        )
        #expect(ModuleTables.packageErrors(in: document, against: Self.planted).count == errors)
    }

    @Test
    func `a wrong row of the architecture is seen`() {
        func errors(_ row: ModuleRow) -> Int {
            ModuleTables.architectureErrors([row], against: Self.planted).count
        }
        #expect(errors(ModuleRow(folder: "Sources/B", ours: ["A"], outside: ["NIOCore", "Logging"])) == 0)
        #expect(errors(ModuleRow(folder: "Sources/B", ours: [], outside: ["NIOCore", "Logging"])) == 1)
        #expect(errors(ModuleRow(folder: "Sources/B", ours: ["A"], outside: ["NIOCore"])) == 1)
        #expect(errors(ModuleRow(folder: "Sources/C", ours: [], outside: [])) == 1)
    }
}
