import ArgumentParser

/// The command `tidemark settings`.
struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "List the settings of the server: value, where that comes from, default and bounds.",
        discussion: """
            The values are those of a server that starts now. Without --all the list has the settings that \
            operators use, and all that are given somewhere. Flags take precedence over the environment, and \
            that over the file given with --config:

              tidemark serve --set in_flight_max=256
              TIDEMARK_IN_FLIGHT_MAX=256 tidemark serve
              echo '{"in_flight_max": 256}' > tidemark.json
              tidemark serve --config tidemark.json

            To see the effect of a file:

              tidemark settings --config tidemark.json

            CHANGE says what a running server needs for a new value in the file: sighup, or a restart.
            """
    )

    @OptionGroup var options: SettingsOptions

    @Flag(help: "List every setting, also those whose defaults are nearly always right.")
    var all = false

    @Flag(
        help: "Print a JSON array of objects with name, value, default, origin, change, min, max and meaning."
    )
    var json = false

    func run() async throws {
        let settings = try await self.options.read(beside: nil)
        for variable in settings.unknownVariables {
            let meant = variable.nearest.map { " Did you mean '\($0)'?" } ?? ""
            Terminal.writeError("tidemark: the variable \(variable.name) is not a setting.\(meant)\n")
        }
        func isListed(_ name: String, isAdvanced: Bool) -> Bool {
            self.all || !isAdvanced || settings.origins[name] != nil
        }
        let texts = TextSetting.allCases.filter { isListed($0.rawValue, isAdvanced: $0.isAdvanced) }
        let numbers = NumberSetting.all.filter { isListed($0.name, isAdvanced: $0.isAdvanced) }
        let rows = texts.map { Row($0, settings) } + numbers.map { Row($0, settings) }
        if self.json {
            Terminal.write(try JSONText.of(rows))
        } else {
            Terminal.write(
                Terminal.table(
                    header: ["NAME", "VALUE", "FROM", "DEFAULT", "CHANGE", "BOUNDS", "MEANING"],
                    rows: rows.map(\.cells)
                )
            )
        }
    }

    private struct Row: Encodable {
        enum Value: Encodable {
            case text(String)
            case number(Int)

            var text: String {
                switch self {
                case .text(let text): text
                case .number(let number): "\(number)"
                }
            }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                switch self {
                case .text(let text): try container.encode(text)
                case .number(let number): try container.encode(number)
                }
            }
        }

        let name: String
        let value: Value
        let `default`: Value
        /// `flag`, `environment`, the path of a file, or `default`.
        let origin: String
        /// `sighup` or `restart`: what a new value needs to take effect.
        let change: String
        let min: Int?
        let max: Int?
        let meaning: String

        init(_ setting: TextSetting, _ settings: Settings) {
            self.name = setting.rawValue
            self.value = .text(setting.read(settings))
            self.default = .text(setting.defaultText)
            self.origin = settings.origins[setting.rawValue]?.description ?? "default"
            self.change = Self.change(isReloadable: setting.isReloadable)
            (self.min, self.max) = (nil, nil)
            self.meaning = setting.meaning
        }

        init(_ setting: NumberSetting, _ settings: Settings) {
            self.name = setting.name
            self.value = .number(setting.read(settings))
            self.default = .number(setting.read(.defaults))
            self.origin = settings.origins[setting.name]?.description ?? "default"
            self.change = Self.change(isReloadable: setting.isReloadable)
            (self.min, self.max) = (setting.range.lowerBound, setting.range.upperBound)
            self.meaning = setting.meaning
        }

        var cells: [String] {
            let bounds = if let min, let max { "\(min)…\(max)" } else { "" }
            return [
                self.name, self.value.text, self.origin, self.default.text, self.change, bounds, self.meaning,
            ]
        }

        private static func change(isReloadable: Bool) -> String { isReloadable ? "sighup" : "restart" }
    }
}
